import { Paperclip, X } from 'lucide-react';
import { type ChangeEvent, useRef, useState } from 'react';
import { Button, IconButton } from '../buttons/button';
import { Input } from '../form/field';
import { bytes } from '../text/format';

type Props = {
  id: string;
  'aria-describedby'?: string;
  'aria-invalid'?: boolean;
  required?: boolean;
  placeholder?: string;
  value: string;
  disabled?: boolean;
  onChange: (value: string) => void;
};

/** A request is limited to one megabyte, and base64 makes a file a third larger. */
const MAX_BYTES = 700_000;

/** A file from this device, sent as a data URL, or the URL of a file. */
export function FileControl({ value, placeholder, disabled, onChange, ...control }: Props) {
  const picker = useRef<HTMLInputElement>(null);
  const [name, setName] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);

  async function pick(event: ChangeEvent<HTMLInputElement>) {
    const file = event.target.files?.[0];
    // Reset, so that the same file can be chosen again.
    event.target.value = '';
    if (!file) return;
    if (file.size > MAX_BYTES) {
      setProblem(
        `${file.name} is ${bytes(file.size)}; the limit is ${bytes(MAX_BYTES)}. Enter its URL instead.`,
      );
      return;
    }
    try {
      onChange(await dataUrl(file));
      setName(file.name);
      setProblem(null);
    } catch {
      setProblem(`Couldn't read ${file.name}.`);
    }
  }

  return (
    <div className="flex flex-col gap-1.5">
      <div className="flex flex-wrap items-center gap-2">
        {value.startsWith('data:') ? (
          <span className="flex min-w-0 flex-1 items-center gap-2 rounded-lg border border-line bg-sunken py-0.5 pl-3 text-sm">
            <span className="min-w-0 flex-1 truncate">
              {name ?? 'File'} · {bytes(Math.round((value.length * 3) / 4))}
            </span>
            <IconButton label="Remove file" disabled={disabled} onClick={() => onChange('')}>
              <X className="size-4" />
            </IconButton>
          </span>
        ) : (
          <Input
            {...control}
            className="min-w-40 flex-1"
            placeholder={placeholder ?? 'URL or path'}
            value={value}
            disabled={disabled}
            onChange={(event) => onChange(event.target.value)}
          />
        )}
        <Button
          icon={<Paperclip aria-hidden className="size-4" />}
          disabled={disabled}
          onClick={() => picker.current?.click()}
        >
          Choose file
        </Button>
        <input ref={picker} type="file" className="hidden" tabIndex={-1} aria-hidden onChange={pick} />
      </div>
      {problem && (
        <p role="alert" className="text-xs text-bad">
          {problem}
        </p>
      )}
    </div>
  );
}

function dataUrl(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}
