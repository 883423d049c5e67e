// What `?cli=true` shows after the sign-in: the token, as the command that lets a terminal use it.
import { Button } from "../../ui/Button";
import { CopyCommand } from "../../ui/CopyCommand";
import css from "./LoginPage.module.css";

export function CliToken({ token, onGoOn }: { token: string; onGoOn: () => void }) {
  return (
    <div className={css["form"]}>
      <h2>Use this session in a terminal</h2>
      <p>Anyone who has the token can act as you until it expires.</p>
      <CopyCommand text={`det -m ${window.location.origin} token login ${token}`} />
      <Button kind="primary" onPress={onGoOn}>
        Go to the page
      </Button>
    </div>
  );
}
