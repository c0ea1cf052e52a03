import { Component, type ComponentChildren } from "preact";
import { ErrorCard } from "../components/states.tsx";

/** An error of one screen is shown in its place; the rest of the page lives on. */
export class Boundary extends Component<{ children: ComponentChildren }, { error?: unknown }> {
  override componentDidCatch(error: unknown): void {
    console.error(error);
    this.setState({ error });
  }

  override render() {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return <ErrorCard error={{ code: "unexpected", detail: String(error) }} onRetry={() => this.setState({ error: undefined })} />;
  }
}
