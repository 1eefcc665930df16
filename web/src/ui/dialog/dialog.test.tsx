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

test('clicking the backdrop closes the dialog', () => {
  const { onClose, dialog } = shown();
  fireEvent.pointerDown(dialog);
  fireEvent.click(dialog);
  expect(onClose).toHaveBeenCalledOnce();
});

test('a text selection that ends on the backdrop leaves the dialog open', () => {
  const { onClose, dialog, input } = shown();
  fireEvent.pointerDown(input);
  fireEvent.click(dialog);
  expect(onClose).not.toHaveBeenCalled();
});
