import { Component, type ReactNode } from 'react';

/** Unformatted text. */
export function Plain({ text }: { text: string }) {
  return <p className="whitespace-pre-wrap">{text}</p>;
}

/** Shows the text unformatted when rendering it as Markdown fails, so that one response can't break the page. */
export class PlainOnFailure extends Component<{ text: string; children: ReactNode }, { failed: boolean }> {
  state = { failed: false };

  static getDerivedStateFromError() {
    return { failed: true };
  }

  render() {
    return this.state.failed ? <Plain text={this.props.text} /> : this.props.children;
  }
}
