// Basic components: buttons, badges, fields, dialogs and states.

import { Compass, Ellipsis, Pencil, Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { ApiError, OFFLINE } from '@/api/problem';
import type { ExecutionStatus } from '@/protocol';
import { Button, type ButtonKind, IconButton } from '@/ui/buttons/button';
import { CopyButton } from '@/ui/buttons/copy-button';
import { Menu, MenuItem } from '@/ui/buttons/menu';
import { Dialog } from '@/ui/dialog/dialog';
import { Badge, Dot, type Tone } from '@/ui/feedback/badge';
import { RunStatus } from '@/ui/feedback/run-status';
import { showToast } from '@/ui/feedback/toast';
import { Field, Input, Select, TextArea } from '@/ui/form/field';
import { Switch } from '@/ui/form/switch';
import { Fold } from '@/ui/page/fold';
import { Panel } from '@/ui/page/page';
import { Empty, Failure, Loading } from '@/ui/page/states';
import { Json } from '@/ui/values/json';
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
        <Specimen title="Small, with an icon, busy, disabled, icon only">
          <div className="flex flex-wrap items-center gap-2">
            <Button size="small">Small</Button>
            <Button icon={<Plus aria-hidden className="size-4" />}>New</Button>
            <Button kind="primary" busy>
              Saving
            </Button>
            <Button disabled>Disabled</Button>
            <IconButton label="Edit">
              <Pencil className="size-4" />
            </IconButton>
            <CopyButton text="Copied from the style guide" />
          </div>
        </Specimen>
      </Entry>
      <Entry title="Badges and run status">
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
        <Specimen title="Hint, error, text area, select, switch">
          <Fields />
        </Specimen>
      </Entry>
      <Entry title="Dialogs, menus and notifications">
        <Specimen title="Opened by a button">
          <Overlays />
        </Specimen>
      </Entry>
      <Entry title="Loading, empty and error states">
        <Specimen title="Loading">
          <Loading rows={2} height="h-12" />
        </Specimen>
        <Specimen title="Empty">
          <Empty icon={<Compass />} title="No agents yet" action={<Button>Browse marketplace</Button>}>
            Agents you add appear here.
          </Empty>
        </Specimen>
        <Specimen title="Error, and no connection">
          <div className="flex flex-col gap-2">
            <Failure
              error={new ApiError(500, 'STORE_UNAVAILABLE', "Can't reach the database.")}
              onRetry={() => {}}
            />
            <Failure error={new ApiError(0, 'UNREACHABLE', OFFLINE)} onRetry={() => {}} />
          </div>
        </Specimen>
      </Entry>
      <Entry title="Panels and collapsible sections">
        <Specimen title="Panel with a collapsible section">
          <Panel title="Panel" actions={<Button size="small">Action</Button>}>
            <Fold title="More">
              <Json value={{ name: 'Pilothouse', harbors: ['Hamburg', 'Brest'] }} />
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
      <Field label="Name" hint="Visible to other users." required>
        {(control) => <Input {...control} placeholder="Tide table" />}
      </Field>
      <Field label="Address" error="Enter a valid address.">
        {(control) => <Input {...control} defaultValue="harbor" />}
      </Field>
      <Field label="Notes">{(control) => <TextArea {...control} />}</Field>
      <div className="flex flex-col gap-4">
        <Field label="Harbor">
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
      <Button onClick={() => setOpen(true)}>Open dialog</Button>
      <Button onClick={() => showToast('Agent saved.', 'good')}>Success message</Button>
      <Button onClick={() => showToast("Couldn't save the agent.", 'bad')}>Error message</Button>
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
        title="Delete this agent?"
        open={open}
        onClose={() => setOpen(false)}
        actions={
          <>
            <Button onClick={() => setOpen(false)}>Cancel</Button>
            <Button kind="danger" onClick={() => setOpen(false)}>
              Delete
            </Button>
          </>
        }
      >
        This permanently deletes the agent and its runs.
      </Dialog>
    </div>
  );
}
