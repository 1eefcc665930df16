import { act, fireEvent, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { VoyageGame } from './voyage-game';

let still = false;
const frames: FrameRequestCallback[] = [];
let scroll: (isIntersecting: boolean) => void = () => {};

beforeEach(() => {
  still = false;
  frames.length = 0;
  vi.stubGlobal('matchMedia', () => ({ matches: still }));
  vi.stubGlobal('requestAnimationFrame', (frame: FrameRequestCallback) => frames.push(frame));
  vi.stubGlobal('cancelAnimationFrame', () => frames.splice(0));
  vi.stubGlobal(
    'IntersectionObserver',
    class {
      constructor(tell: (seen: { isIntersecting: boolean }[]) => void) {
        scroll = (isIntersecting) => tell([{ isIntersecting }]);
      }
      observe() {}
      disconnect() {}
    },
  );
});
afterEach(() => vi.unstubAllGlobals());

function water() {
  return screen.getByRole('application', { name: 'Voyage, a small game' });
}

test('nothing moves before somebody sets sail', () => {
  render(<VoyageGame onClose={() => {}} />);
  expect(document.activeElement).toBe(water());
  expect(frames).toHaveLength(0);
  fireEvent.keyDown(water(), { key: ' ' });
  expect(frames).toHaveLength(1);
});

test('it can be paused, and pauses by itself when the focus or the page goes away', () => {
  render(<VoyageGame onClose={() => {}} />);
  fireEvent.keyDown(water(), { key: ' ' });
  fireEvent.keyDown(water(), { key: ' ' });
  expect(screen.getByRole('button', { name: 'Sail on' })).toBeDefined();
  expect(frames).toHaveLength(0);

  fireEvent.click(screen.getByRole('button', { name: 'Sail on' }));
  expect(frames).toHaveLength(1);
  fireEvent.blur(water());
  expect(screen.getByRole('button', { name: 'Sail on' })).toBeDefined();

  fireEvent.click(screen.getByRole('button', { name: 'Sail on' }));
  vi.spyOn(document, 'hidden', 'get').mockReturnValue(true);
  act(() => void document.dispatchEvent(new Event('visibilitychange')));
  expect(screen.getByRole('button', { name: 'Sail on' })).toBeDefined();
  expect(frames).toHaveLength(0);
  vi.restoreAllMocks();
});

test('whichever button sets sail, the keys steer', async () => {
  render(<VoyageGame onClose={() => {}} />);
  const press = async (name: string) => {
    await userEvent.click(screen.getByRole('button', { name }));
    expect(document.activeElement).toBe(water());
    expect(frames).toHaveLength(1);
  };
  await press('Set sail');
  act(() => screen.getByRole('button', { name: 'Close the game' }).focus());
  await press('Sail on');
  act(() => screen.getByRole('button', { name: 'Close the game' }).focus());
  await press('Start again');
});

test('it pauses when it is scrolled out of sight, and does not go on by itself', () => {
  render(<VoyageGame onClose={() => {}} />);
  fireEvent.keyDown(water(), { key: ' ' });
  act(() => scroll(false));
  expect(screen.getByRole('button', { name: 'Sail on' })).toBeDefined();
  act(() => scroll(true));
  expect(screen.getByRole('button', { name: 'Sail on' })).toBeDefined();
  expect(frames).toHaveLength(0);
});

test('a voyage without a hand at the helm ends, says so and can begin again', () => {
  render(<VoyageGame onClose={() => {}} />);
  fireEvent.keyDown(water(), { key: ' ' });
  fireEvent.keyDown(water(), { key: 'ArrowUp' });
  let now = performance.now();
  for (let count = 0; count < 200 && frames.length > 0; count++) {
    now += 90;
    act(() => frames.splice(0).forEach((frame) => void frame(now)));
  }
  expect(screen.getByRole('status').textContent).toMatch(/The voyage has ended after/);
  fireEvent.click(screen.getByRole('button', { name: 'Sail again' }));
  expect(frames).toHaveLength(1);
  expect(document.activeElement).toBe(water());
});

test('without motion the boat moves a stroke at a time, and no clock runs', () => {
  still = true;
  render(<VoyageGame onClose={() => {}} />);
  const boat = () => water().querySelector('g[transform^="translate(16"]')?.getAttribute('transform');
  const before = boat();
  fireEvent.keyDown(water(), { key: 'ArrowDown' });
  expect(boat()).not.toBe(before);
  expect(frames).toHaveLength(0);
  const ahead = screen.getByRole('button', { name: 'One stroke ahead' });
  act(() => ahead.focus());
  expect(screen.getByRole('button', { name: 'One stroke ahead' })).toBe(ahead);
});

test('Escape closes it', () => {
  const close = vi.fn();
  render(<VoyageGame onClose={close} />);
  fireEvent.keyDown(water(), { key: 'Escape' });
  expect(close).toHaveBeenCalledOnce();
});
