// Ends the session and goes to the sign-in.
import { useEffect } from "react";
import { signOut } from "../../api/session";
import { Skeleton } from "../../ui/Skeleton";
import { toast } from "../../ui/toast";
import { navigate } from "../../url";

export default function LogoutPage() {
  useEffect(() => {
    signOut()
      .catch((error: Error) => toast({ text: `Signing out failed: ${error.message}`, kind: "error" }))
      .finally(() => navigate("/login", { replace: true }));
  }, []);
  return <Skeleton rows={2} />;
}
