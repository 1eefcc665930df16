import { Component, type ReactNode } from 'react';

/** A text exactly as it was written. */
export function Plain({ text }: { text: string }) {
  return <p className="whitespace-pre-wrap">{text}</p>;
}

/** Shows a text plain when it cannot be shown as markdown, so that one strange answer never takes the page away. */
export class PlainOnFailure extends Component<{ text: string; children: ReactNode }, { failed: boolean }> {
  state = { failed: false };

  static getDerivedStateFromError() {
    return { failed: true };
  }

  render() {
    return this.state.failed ? <Plain text={this.props.text} /> : this.props.children;
  }
}
