import { expect, test, vi } from 'vitest';
import { Store } from './store';

test('listeners are called when the value changes, until they unsubscribe', () => {
  const store = new Store(1);
  const listener = vi.fn();
  const unsubscribe = store.subscribe(listener);
  store.set(1);
  expect(listener).not.toHaveBeenCalled();
  store.set(2);
  expect(listener).toHaveBeenCalledOnce();
  unsubscribe();
  store.set(3);
  expect(listener).toHaveBeenCalledOnce();
  expect(store.get()).toBe(3);
});

test('a patch keeps the other fields, and the same object if nothing changes', () => {
  const store = new Store({ a: 1, b: 2 });
  const before = store.get();
  store.patch({ a: 1 });
  expect(store.get()).toBe(before);
  store.patch({ a: 3 });
  expect(store.get()).toEqual({ a: 3, b: 2 });
});
