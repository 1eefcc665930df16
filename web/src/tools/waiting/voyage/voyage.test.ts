import { expect, test } from 'vitest';
import { BOAT_X, HEIGHT, helmTowards, newVoyage, speedAfter, step, type Voyage } from './voyage';

/** Sails until the gate that was next is passed or missed, aiming at a place relative to its middle. */
function sailThroughNext(voyage: Voyage, off = 0): Voyage {
  const target = voyage.gates.find((gate) => gate.x > BOAT_X)?.middle ?? 0;
  let now = voyage;
  for (let count = 0; count < 1000 && !now.over && now.passed === voyage.passed; count++)
    now = step(now, 0.03, helmTowards(now.y, target + off));
  return now;
}

test('a boat that keeps to the middle passes the gate', () => {
  const after = sailThroughNext(newVoyage(1));
  expect(after.passed).toBe(1);
  expect(after.over).toBe(false);
});

test('a boat that misses the gate has ended its voyage, and nothing moves it any more', () => {
  const after = sailThroughNext(newVoyage(1), 15);
  expect(after.over).toBe(true);
  expect(after.passed).toBe(0);
  expect(step(after, 1, 1)).toBe(after);
});

test('every gate can be reached from the one before, for many seeds and far out', () => {
  for (let seed = 0; seed < 30; seed++) {
    let voyage = newVoyage(seed * 7919);
    for (let gate = 0; gate < 40; gate++) voyage = sailThroughNext(voyage);
    expect(voyage.passed).toBe(40);
  }
});

test('the same seed and the same hand make the same voyage', () => {
  const sail = () => [0, 1, -1, 1, 0].reduce((voyage, helm) => step(voyage, 0.05, helm), newVoyage(42));
  expect(sail()).toEqual(sail());
  expect(newVoyage(42).gates).not.toEqual(newVoyage(43).gates);
});

test('it becomes faster and narrower, but not without end', () => {
  const first = newVoyage(5);
  let far = first;
  for (let gate = 0; gate < 40; gate++) far = sailThroughNext(far);
  expect(far.gates[0]?.gap).toBeLessThan(first.gates[0]?.gap ?? 0);
  expect(speedAfter(40)).toBeGreaterThan(speedAfter(0));
  expect(speedAfter(1000)).toBe(speedAfter(10_000));
});

test('a page that slept for an hour wakes up where it was', () => {
  const voyage = newVoyage(3);
  expect(step(voyage, 3600, 0)).toEqual(step(voyage, 0.1, 0));
  for (const none of [0, -1, Number.NaN]) expect(step(voyage, none, 1)).toBe(voyage);
});

test('the boat stays on the water whatever the hand does', () => {
  let voyage = newVoyage(9);
  for (let count = 0; count < 60; count++) voyage = step(voyage, 0.03, -99);
  expect(voyage.y).toBeGreaterThan(0);
  for (let count = 0; count < 60; count++) voyage = step(voyage, 0.03, 99);
  expect(voyage.y).toBeLessThan(HEIGHT);
});
