import type { Draft } from './draft';
import type { FieldSpec } from './schema';

export type ControlProps<D extends Draft = Draft> = {
  field: FieldSpec;
  draft: D;
  error?: string;
  disabled?: boolean;
  onChange: (draft: D) => void;
};
