// Keeps a failing page from taking the shell with it, and explains a chunk that a newer version has replaced.
import { Component, type ReactNode } from "react";
import { Button } from "../ui/Button";
import { Empty } from "../ui/Empty";
import { ErrorCard } from "../ui/ErrorCard";

interface Props {
  /** The address: another one is another try. */
  at: string;
  children: ReactNode;
}

interface State {
  error: unknown;
}

export class PageBoundary extends Component<Props, State> {
  override state: State = { error: null };

  static getDerivedStateFromError(error: unknown): State {
    return { error };
  }

  override componentDidUpdate(before: Props): void {
    if (before.at !== this.props.at && this.state.error !== null) this.setState({ error: null });
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === null) return this.props.children;
    if (isMissingChunk(error)) return <Outdated />;
    return <ErrorCard error={error} onRetry={() => this.setState({ error: null })} />;
  }
}

function Outdated() {
  return (
    <Empty title="This part of the page could not be loaded">
      <p>The master may have been upgraded since this tab was opened, or it does not answer.</p>
      <Button kind="primary" onPress={() => window.location.reload()}>
        Reload
      </Button>
    </Empty>
  );
}

function isMissingChunk(error: unknown): boolean {
  return error instanceof Error && /module script|dynamically imported|unable to preload/i.test(error.message);
}
