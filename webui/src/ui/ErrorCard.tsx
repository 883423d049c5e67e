// What went wrong, in the server's words, with Retry. A refusal names who may do it.
import { ApiError } from "../api/client";
import { Button } from "./Button";
import css from "./feedback.module.css";

export function ErrorCard({ error, onRetry }: { error: unknown; onRetry?: (() => unknown) | undefined }) {
  return (
    <div className={css["error"]} role="alert">
      <p className={css["title"]}>
        <span aria-hidden="true">✕ </span>
        {titleOf(error)}
      </p>
      <p className={css["words"]}>{error instanceof Error ? error.message : String(error)}</p>
      {onRetry && (
        <div>
          <Button onPress={() => void onRetry()}>Retry</Button>
        </div>
      )}
    </div>
  );
}

function titleOf(error: unknown): string {
  if (!(error instanceof ApiError)) return "Something went wrong";
  if (error.status === 0) return "The master does not answer";
  if (error.status === 403) return "You may not do this";
  if (error.status === 404) return "Not found";
  return "The master refused the request";
}
