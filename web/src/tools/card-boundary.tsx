import { Component, type ReactNode } from 'react';

type Props = { children: ReactNode; fallback: ReactNode /** A new value is a new attempt. */; of: unknown };

/** Keeps an answer that no card can show from taking the conversation with it. */
export class CardBoundary extends Component<Props, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError(): { failed: boolean } {
    return { failed: true };
  }

  override componentDidUpdate(before: Props): void {
    if (this.state.failed && before.of !== this.props.of) this.setState({ failed: false });
  }

  override render(): ReactNode {
    return this.state.failed ? this.props.fallback : this.props.children;
  }
}
