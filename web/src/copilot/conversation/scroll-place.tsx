import { Component, type ReactNode, type RefObject } from 'react';

type Props = {
  scroller: RefObject<HTMLElement | null>;
  /** Another first message means that earlier ones have come. */
  firstId: string | undefined;
  /** Somebody reads far from the end, so nothing may take them there. */
  onReadAbove: () => void;
  children: ReactNode;
};

type Place = { message: Element; bottom: number; isAbove: boolean };

/** Closer to the end than this one still follows it. */
const NEAR_PX = 100;

/** On each group of messages: only those of a group in sight have a place without a layout for it. */
export const GROUP = { 'data-group': '' };

/**
 * Keeps what is read where it is when earlier messages come in above it. A class, because only a class is asked before
 * the page changes: a height noted earlier is wrong as soon as the browser has measured a group that came into sight.
 */
export class ScrollPlace extends Component<Props> {
  override getSnapshotBeforeUpdate(before: Props): Place | null {
    const scroller = this.props.scroller.current;
    if (before.firstId === this.props.firstId || !scroller) return null;
    const edge = scroller.getBoundingClientRect().top;
    const isBelowEdge = (element: Element) => element.getBoundingClientRect().bottom > edge;
    const group = [...scroller.querySelectorAll('[data-group]')].find(isBelowEdge);
    const message = group && [...group.children].find(isBelowEdge);
    // Its end: the beginning of an answer may be among what comes.
    if (!message) return null;
    const isAbove = scroller.scrollHeight - scroller.clientHeight - scroller.scrollTop > NEAR_PX;
    return { message, bottom: message.getBoundingClientRect().bottom, isAbove };
  }

  override componentDidUpdate(_props: Props, _state: unknown, place: Place | null): void {
    const scroller = this.props.scroller.current;
    if (!scroller || !place?.message.isConnected) return;
    if (place.isAbove) this.props.onReadAbove();
    scroller.scrollTop += place.message.getBoundingClientRect().bottom - place.bottom;
  }

  override render(): ReactNode {
    return this.props.children;
  }
}
