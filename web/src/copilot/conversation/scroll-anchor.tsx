import { Component, type ReactNode, type RefObject } from 'react';

type Props = {
  scroller: RefObject<HTMLElement | null>;
  /** Changes when earlier messages have been loaded. */
  firstId: string | undefined;
  /** The reader is far from the end, so following the end must stop. */
  onReadAbove: () => void;
  children: ReactNode;
};

type AnchorPosition = { message: Element; bottom: number; isAbove: boolean };

/** Within this distance from the end, the view follows new messages. */
const NEAR_PX = 100;

/** Marks each message group: only messages in an on-screen group have a position without forcing a layout. */
export const GROUP = { 'data-group': '' };

/**
 * Keeps the scroll position when earlier messages are added above it. A class component, because only
 * `getSnapshotBeforeUpdate` can measure right before the DOM changes: an earlier measurement is wrong as soon as the
 * browser has laid out another group.
 */
export class ScrollAnchor extends Component<Props> {
  override getSnapshotBeforeUpdate(before: Props): AnchorPosition | null {
    const scroller = this.props.scroller.current;
    if (before.firstId === this.props.firstId || !scroller) return null;
    const edge = scroller.getBoundingClientRect().top;
    const isBelowEdge = (element: Element) => element.getBoundingClientRect().bottom > edge;
    const group = [...scroller.querySelectorAll('[data-group]')].find(isBelowEdge);
    const message = group && [...group.children].find(isBelowEdge);
    // The bottom edge: the start of a response may be among the added messages.
    if (!message) return null;
    const isAbove = scroller.scrollHeight - scroller.clientHeight - scroller.scrollTop > NEAR_PX;
    return { message, bottom: message.getBoundingClientRect().bottom, isAbove };
  }

  override componentDidUpdate(_props: Props, _state: unknown, position: AnchorPosition | null): void {
    const scroller = this.props.scroller.current;
    if (!scroller || !position?.message.isConnected) return;
    if (position.isAbove) this.props.onReadAbove();
    scroller.scrollTop += position.message.getBoundingClientRect().bottom - position.bottom;
  }

  override render(): ReactNode {
    return this.props.children;
  }
}
