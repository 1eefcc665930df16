import { fireEvent, render, screen } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { Dialog } from './dialog';

function shown() {
  const onClose = vi.fn();
  render(
    <Dialog title="Rename" open onClose={onClose}>
      <input aria-label="Name" />
    </Dialog>,
  );
  return { onClose, dialog: screen.getByRole('dialog'), input: screen.getByLabelText('Name') };
}

test('a press beside the window closes it', () => {
  const { onClose, dialog } = shown();
  fireEvent.pointerDown(dialog);
  fireEvent.click(dialog);
  expect(onClose).toHaveBeenCalledOnce();
});

test('a selection of text that ends beside the window leaves it open', () => {
  const { onClose, dialog, input } = shown();
  fireEvent.pointerDown(input);
  fireEvent.click(dialog);
  expect(onClose).not.toHaveBeenCalled();
});
