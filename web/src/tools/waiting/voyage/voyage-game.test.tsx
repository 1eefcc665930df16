import { act, fireEvent, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { VoyageGame } from './voyage-game';

let reducedMotion = false;
const frames: FrameRequestCallback[] = [];
let scroll: (isIntersecting: boolean) => void = () => {};

beforeEach(() => {
  reducedMotion = false;
  frames.length = 0;
  vi.stubGlobal('matchMedia', () => ({ matches: reducedMotion }));
  vi.stubGlobal('requestAnimationFrame', (frame: FrameRequestCallback) => frames.push(frame));
  vi.stubGlobal('cancelAnimationFrame', () => frames.splice(0));
  vi.stubGlobal(
    'IntersectionObserver',
    class {
      constructor(notify: (entries: { isIntersecting: boolean }[]) => void) {
        scroll = (isIntersecting) => notify([{ isIntersecting }]);
      }
      observe() {}
      disconnect() {}
    },
  );
});
afterEach(() => vi.unstubAllGlobals());

function gameArea() {
  return screen.getByRole('application', { name: 'Voyage game' });
}

test('nothing moves before the game is started', () => {
  render(<VoyageGame onClose={() => {}} />);
  expect(document.activeElement).toBe(gameArea());
  expect(frames).toHaveLength(0);
  fireEvent.keyDown(gameArea(), { key: ' ' });
  expect(frames).toHaveLength(1);
});

test('it can be paused, and pauses when it loses focus or the page is hidden', () => {
  render(<VoyageGame onClose={() => {}} />);
  fireEvent.keyDown(gameArea(), { key: ' ' });
  fireEvent.keyDown(gameArea(), { key: ' ' });
  expect(screen.getByRole('button', { name: 'Resume' })).toBeDefined();
  expect(frames).toHaveLength(0);

  fireEvent.click(screen.getByRole('button', { name: 'Resume' }));
  expect(frames).toHaveLength(1);
  fireEvent.blur(gameArea());
  expect(screen.getByRole('button', { name: 'Resume' })).toBeDefined();

  fireEvent.click(screen.getByRole('button', { name: 'Resume' }));
  vi.spyOn(document, 'hidden', 'get').mockReturnValue(true);
  act(() => void document.dispatchEvent(new Event('visibilitychange')));
  expect(screen.getByRole('button', { name: 'Resume' })).toBeDefined();
  expect(frames).toHaveLength(0);
  vi.restoreAllMocks();
});

test('the keys steer after any button has started the game', async () => {
  render(<VoyageGame onClose={() => {}} />);
  const press = async (name: string) => {
    await userEvent.click(screen.getByRole('button', { name }));
    expect(document.activeElement).toBe(gameArea());
    expect(frames).toHaveLength(1);
  };
  await press('Start');
  act(() => screen.getByRole('button', { name: 'Close game' }).focus());
  await press('Resume');
  act(() => screen.getByRole('button', { name: 'Close game' }).focus());
  await press('Restart');
});

test('it pauses when scrolled out of view, and does not resume by itself', () => {
  render(<VoyageGame onClose={() => {}} />);
  fireEvent.keyDown(gameArea(), { key: ' ' });
  act(() => scroll(false));
  expect(screen.getByRole('button', { name: 'Resume' })).toBeDefined();
  act(() => scroll(true));
  expect(screen.getByRole('button', { name: 'Resume' })).toBeDefined();
  expect(frames).toHaveLength(0);
});

test('a game without steering ends, announces it and can be played again', () => {
  render(<VoyageGame onClose={() => {}} />);
  fireEvent.keyDown(gameArea(), { key: ' ' });
  fireEvent.keyDown(gameArea(), { key: 'ArrowUp' });
  let now = performance.now();
  for (let count = 0; count < 200 && frames.length > 0; count++) {
    now += 90;
    act(() => frames.splice(0).forEach((frame) => void frame(now)));
  }
  expect(screen.getByRole('status').textContent).toMatch(/Game over/);
  fireEvent.click(screen.getByRole('button', { name: 'Play again' }));
  expect(frames).toHaveLength(1);
  expect(document.activeElement).toBe(gameArea());
});

test('with reduced motion each key press is one move, and no clock runs', () => {
  reducedMotion = true;
  render(<VoyageGame onClose={() => {}} />);
  const boat = () => gameArea().querySelector('g[transform^="translate(16"]')?.getAttribute('transform');
  const before = boat();
  fireEvent.keyDown(gameArea(), { key: 'ArrowDown' });
  expect(boat()).not.toBe(before);
  expect(frames).toHaveLength(0);
  const ahead = screen.getByRole('button', { name: 'Move ahead' });
  act(() => ahead.focus());
  expect(screen.getByRole('button', { name: 'Move ahead' })).toBe(ahead);
});

test('Escape closes it', () => {
  const close = vi.fn();
  render(<VoyageGame onClose={close} />);
  fireEvent.keyDown(gameArea(), { key: 'Escape' });
  expect(close).toHaveBeenCalledOnce();
});
