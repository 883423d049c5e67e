// Puts text on the clipboard and says whether it worked (a plain-HTTP origin other than localhost has no clipboard).
import { toast } from "./toast";

export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    toast({ text: "The browser did not allow copying; select the text and copy it by hand", kind: "error" });
    return false;
  }
}
