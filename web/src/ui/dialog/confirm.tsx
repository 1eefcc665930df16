import { Button } from '../buttons/button';
import { useAttempt } from '../form/use-attempt';
import { Dialog } from './dialog';

type Props = {
  title: string;
  children: string;
  confirmLabel: string;
  open: boolean;
  onClose: () => void;
  /** If it fails, the dialog stays open and shows the error. */
  onConfirm: () => Promise<unknown>;
};

/** Asks for confirmation before something that can't be undone. */
export function Confirm({ title, children, confirmLabel, open, onClose, onConfirm }: Props) {
  const { busy, problem, setProblem, attempt } = useAttempt();

  function close() {
    setProblem(null);
    onClose();
  }

  async function confirm() {
    if (await attempt(onConfirm)) close();
  }

  return (
    <Dialog
      title={title}
      open={open}
      onClose={close}
      actions={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button kind="danger" busy={busy} onClick={confirm}>
            {confirmLabel}
          </Button>
        </>
      }
    >
      <p className="text-sm break-words">{children}</p>
      {problem && (
        <p role="alert" className="mt-3 text-sm text-bad">
          {problem}
        </p>
      )}
    </Dialog>
  );
}
