// What pages are made of.

import { Compass, Ellipsis, Pencil, Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { ApiError, OFFLINE } from '@/api/problem';
import type { ExecutionStatus } from '@/protocol';
import { Badge, Dot, type Tone } from '@/ui/badge';
import { Button, type ButtonKind, IconButton } from '@/ui/button';
import { CopyButton } from '@/ui/copy-button';
import { Dialog } from '@/ui/dialog';
import { Field, Input, Select, TextArea } from '@/ui/field';
import { Fold, Json } from '@/ui/fold';
import { Menu, MenuItem } from '@/ui/menu';
import { Panel } from '@/ui/page';
import { RunStatus } from '@/ui/run-status';
import { Empty, Failure, Loading } from '@/ui/states';
import { Switch } from '@/ui/switch';
import { say } from '@/ui/toast';
import { Entry, Specimen } from './specimen';

const KINDS: ButtonKind[] = ['primary', 'secondary', 'quiet', 'danger'];
const RUN_STATES: ExecutionStatus[] = [
  'INCOMPLETE',
  'QUEUED',
  'RUNNING',
  'REVIEW',
  'COMPLETED',
  'FAILED',
  'TERMINATED',
];
const TONES: Tone[] = ['neutral', 'accent', 'good', 'warn', 'bad'];

export function Primitives() {
  return (
    <>
      <Entry title="Buttons">
        <Specimen title="Kinds">
          <div className="flex flex-wrap gap-2">
            {KINDS.map((kind) => (
              <Button key={kind} kind={kind}>
                {kind}
              </Button>
            ))}
          </div>
        </Specimen>
        <Specimen title="Small, with a picture, busy, not to be pressed, picture only">
          <div className="flex flex-wrap items-center gap-2">
            <Button size="small">Small</Button>
            <Button icon={<Plus aria-hidden className="size-4" />}>New</Button>
            <Button kind="primary" busy>
              Saving
            </Button>
            <Button disabled>Not now</Button>
            <IconButton label="Edit">
              <Pencil className="size-4" />
            </IconButton>
            <CopyButton text="Copied from the style guide" />
          </div>
        </Specimen>
      </Entry>
      <Entry title="Badges and states of a run">
        <Specimen title="Tones">
          <div className="flex flex-wrap items-center gap-2">
            {TONES.map((tone) => (
              <Badge key={tone} tone={tone}>
                {tone}
              </Badge>
            ))}
            {TONES.map((tone) => (
              <Dot key={tone} tone={tone} label={tone} pulse={tone === 'accent'} />
            ))}
          </div>
        </Specimen>
        <Specimen title="Runs">
          <div className="flex flex-wrap gap-2">
            {RUN_STATES.map((status) => (
              <RunStatus key={status} status={status} />
            ))}
          </div>
        </Specimen>
      </Entry>
      <Entry title="Fields">
        <Specimen title="With a hint, with an error, long, to choose from, on or off">
          <Fields />
        </Specimen>
      </Entry>
      <Entry title="Windows, menus and news">
        <Specimen title="Each behind its button">
          <Overlays />
        </Specimen>
      </Entry>
      <Entry title="Nothing, not yet, and not at all">
        <Specimen title="Loading">
          <Loading rows={2} height="h-12" />
        </Specimen>
        <Specimen title="Empty">
          <Empty icon={<Compass />} title="No agents yet" action={<Button>Look in the marketplace</Button>}>
            What you add appears here.
          </Empty>
        </Specimen>
        <Specimen title="Failed, and no connection">
          <div className="flex flex-col gap-2">
            <Failure
              error={new ApiError(500, 'STORE_UNAVAILABLE', 'The store cannot be reached.')}
              onRetry={() => {}}
            />
            <Failure error={new ApiError(0, 'UNREACHABLE', OFFLINE)} onRetry={() => {}} />
          </div>
        </Specimen>
      </Entry>
      <Entry title="Boxes and folds">
        <Specimen title="A box with a fold">
          <Panel title="A box" actions={<Button size="small">Do</Button>}>
            <Fold title="More">
              <Json value={{ name: 'Pilothouse', harbours: ['Hamburg', 'Brest'] }} />
            </Fold>
          </Panel>
        </Specimen>
      </Entry>
    </>
  );
}

function Fields() {
  const [on, setOn] = useState(true);
  return (
    <div className="grid max-w-2xl gap-4 sm:grid-cols-2">
      <Field label="Name" hint="As others will see it." required>
        {(control) => <Input {...control} placeholder="Tide table" />}
      </Field>
      <Field label="Address" error="This is not an address.">
        {(control) => <Input {...control} defaultValue="harbour" />}
      </Field>
      <Field label="Notes">{(control) => <TextArea {...control} />}</Field>
      <div className="flex flex-col gap-4">
        <Field label="Harbour">
          {(control) => (
            <Select {...control}>
              <option>Hamburg</option>
              <option>Brest</option>
            </Select>
          )}
        </Field>
        <Field label="Dry run">
          {(control) => (
            <Switch {...control} checked={on} onChange={(event) => setOn(event.target.checked)} />
          )}
        </Field>
      </div>
    </div>
  );
}

function Overlays() {
  const [open, setOpen] = useState(false);
  return (
    <div className="flex flex-wrap items-center gap-2">
      <Button onClick={() => setOpen(true)}>Open a window</Button>
      <Button onClick={() => say('The agent was saved.', 'good')}>Good news</Button>
      <Button onClick={() => say('The agent could not be saved.', 'bad')}>Bad news</Button>
      <Menu
        trigger={
          <IconButton label="More">
            <Ellipsis className="size-4" />
          </IconButton>
        }
      >
        <MenuItem icon={<Pencil className="size-4" />} onSelect={() => {}}>
          Rename
        </MenuItem>
        <MenuItem danger icon={<Trash2 className="size-4" />} onSelect={() => {}}>
          Delete
        </MenuItem>
      </Menu>
      <Dialog
        title="Delete the agent"
        open={open}
        onClose={() => setOpen(false)}
        actions={
          <>
            <Button onClick={() => setOpen(false)}>Keep it</Button>
            <Button kind="danger" onClick={() => setOpen(false)}>
              Delete
            </Button>
          </>
        }
      >
        Its runs are deleted too. This cannot be undone.
      </Dialog>
    </div>
  );
}
