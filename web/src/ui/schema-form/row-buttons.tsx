// The buttons that add and remove rows of a list or a table.

import { Plus, X } from 'lucide-react';
import { Button, IconButton } from '../buttons/button';

type Props = { label: string; disabled?: boolean; onClick: () => void };

export function RemoveRow({ label, disabled, onClick }: Props) {
  return (
    <IconButton label={label} disabled={disabled} onClick={onClick}>
      <X className="size-4" />
    </IconButton>
  );
}

export function AddRow({ label, disabled, onClick }: Props) {
  return (
    <Button
      size="small"
      className="self-start"
      icon={<Plus aria-hidden className="size-4" />}
      disabled={disabled}
      onClick={onClick}
    >
      {label}
    </Button>
  );
}
