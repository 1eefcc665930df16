import { expect, test } from 'vitest';
import { BOAT_X, HEIGHT, newVoyage, speedAfter, steeringTowards, step, type Voyage } from './voyage';

/** Steers until the next gate is passed or missed, aiming at an offset from its middle. */
function sailThroughNext(voyage: Voyage, off = 0): Voyage {
  const target = voyage.gates.find((gate) => gate.x > BOAT_X)?.middle ?? 0;
  let now = voyage;
  for (let count = 0; count < 1000 && !now.over && now.passed === voyage.passed; count++)
    now = step(now, 0.03, steeringTowards(now.y, target + off));
  return now;
}

test('a boat that aims at the middle passes the gate', () => {
  const after = sailThroughNext(newVoyage(1));
  expect(after.passed).toBe(1);
  expect(after.over).toBe(false);
});

test('missing a gate ends the game, and further steps change nothing', () => {
  const after = sailThroughNext(newVoyage(1), 15);
  expect(after.over).toBe(true);
  expect(after.passed).toBe(0);
  expect(step(after, 1, 1)).toBe(after);
});

test('every gate can be reached from the previous one, for many seeds and many gates', () => {
  for (let seed = 0; seed < 30; seed++) {
    let voyage = newVoyage(seed * 7919);
    for (let gate = 0; gate < 40; gate++) voyage = sailThroughNext(voyage);
    expect(voyage.passed).toBe(40);
  }
});

test('the same seed and the same steering give the same game', () => {
  const sail = () =>
    [0, 1, -1, 1, 0].reduce((voyage, steering) => step(voyage, 0.05, steering), newVoyage(42));
  expect(sail()).toEqual(sail());
  expect(newVoyage(42).gates).not.toEqual(newVoyage(43).gates);
});

test('gates become faster and narrower up to a limit', () => {
  const first = newVoyage(5);
  let far = first;
  for (let gate = 0; gate < 40; gate++) far = sailThroughNext(far);
  expect(far.gates[0]?.gap).toBeLessThan(first.gates[0]?.gap ?? 0);
  expect(speedAfter(40)).toBeGreaterThan(speedAfter(0));
  expect(speedAfter(1000)).toBe(speedAfter(10_000));
});

test('a step is limited to 0.1 seconds, even after an hour in the background', () => {
  const voyage = newVoyage(3);
  expect(step(voyage, 3600, 0)).toEqual(step(voyage, 0.1, 0));
  for (const none of [0, -1, Number.NaN]) expect(step(voyage, none, 1)).toBe(voyage);
});

test('the boat stays in the area whatever the steering', () => {
  let voyage = newVoyage(9);
  for (let count = 0; count < 60; count++) voyage = step(voyage, 0.03, -99);
  expect(voyage.y).toBeGreaterThan(0);
  for (let count = 0; count < 60; count++) voyage = step(voyage, 0.03, 99);
  expect(voyage.y).toBeLessThan(HEIGHT);
});
