// Card of questions to the user, answered with one message.

import { asRecord } from '@/lib/json';
import { Button } from '@/ui/buttons/button';
import { classes } from '@/ui/classes';
import { Field, TextArea } from '@/ui/form/field';
import { useCardState } from '../card-state';
import { answersMessage } from '../messages';
import { type CardKinds, type CardProps, type ToolPart, useCardActions } from '../types';
import { useCardSend } from '../use-card-send';
import { Buttons, SendOutcome } from './parts';

function QuestionsCard({ response: { questions }, part, current }: CardProps<'clarification_needed'>) {
  const [answers, setAnswers] = useCardState<Record<number, string>>(`${part.toolCallId} answers`, {});
  const { busy } = useCardActions();
  const send = useCardSend(part.toolCallId);
  const open = current && send.sent === null;
  const hasAnswer = questions.some((_, index) => answers[index]?.trim());
  const submit = () =>
    send.submit(
      answersMessage(questions.map(({ question }, index) => ({ question, answer: answers[index] ?? '' }))),
    );

  if (!open) return <AnsweredQuestions questions={questions} answers={answers} sent={send.sent !== null} />;
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (hasAnswer) void submit();
      }}
    >
      {questions.map(({ question, keyword, example }, index) => {
        const options = optionsOf(part, index);
        const answer = answers[index] ?? '';
        const set = (value: string) => setAnswers({ ...answers, [index]: value });
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: the order of the questions never changes, and two may be identical.
          <div key={index} className="flex flex-col gap-2">
            <Field label={question}>
              {(control) => (
                <>
                  {options.length > 0 && (
                    <Options
                      label={question}
                      options={options}
                      chosen={answer}
                      disabled={send.sending}
                      onChoose={set}
                    />
                  )}
                  <TextArea
                    {...control}
                    name={keyword}
                    rows={1}
                    value={answer}
                    disabled={send.sending}
                    placeholder={placeholderOf(example, options)}
                    onChange={(event) => set(event.target.value)}
                    onKeyDown={(event) => {
                      if (event.key === 'Enter' && (event.metaKey || event.ctrlKey))
                        event.currentTarget.form?.requestSubmit();
                    }}
                    className="field-sizing-content max-h-60 min-h-10! resize-none"
                  />
                </>
              )}
            </Field>
          </div>
        );
      })}
      <Buttons>
        <Button type="submit" kind="primary" busy={send.sending} disabled={!hasAnswer}>
          {questions.length === 1 ? 'Send answer' : 'Send answers'}
        </Button>
        {busy && <span className="text-xs text-muted">It will be added to the current response.</span>}
      </Buttons>
      <SendOutcome send={send} sent="" />
    </form>
  );
}

type OptionsProps = {
  label: string;
  options: string[];
  chosen: string;
  disabled: boolean;
  onChoose: (option: string) => void;
};

/** Suggested answers; the user can still type another one. */
function Options({ label, options, chosen, disabled, onChoose }: OptionsProps) {
  return (
    <fieldset className="flex flex-wrap gap-2" disabled={disabled}>
      <legend className="sr-only">Options: {label}</legend>
      {options.map((option) => (
        <button
          key={option}
          type="button"
          aria-pressed={chosen === option}
          onClick={() => onChoose(option)}
          className={classes(
            'min-h-9 rounded-full border px-3.5 py-1 text-left text-sm break-words transition-colors pointer-coarse:min-h-10',
            chosen === option
              ? 'border-accent bg-accent-soft text-accent'
              : 'border-line bg-surface hover:border-line-strong',
          )}
        >
          {option}
        </button>
      ))}
    </fieldset>
  );
}

type AnsweredQuestionsProps = {
  questions: { question: string }[];
  answers: Record<number, string>;
  sent: boolean;
};

/** The questions once they can no longer be answered here. */
function AnsweredQuestions({ questions, answers, sent }: AnsweredQuestionsProps) {
  return (
    <>
      <dl className="flex flex-col gap-2">
        {questions.map(({ question }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the order of the questions never changes.
          <div key={index}>
            <dt className="break-words">{question}</dt>
            {sent && answers[index]?.trim() && (
              <dd className="break-words whitespace-pre-wrap text-muted">{answers[index]}</dd>
            )}
          </div>
        ))}
      </dl>
      <p role="status" className="text-xs text-muted">
        {sent ? 'Answered.' : 'The chat continued without an answer.'}
      </p>
    </>
  );
}

function placeholderOf(example: string | null | undefined, options: string[]): string | undefined {
  if (options.length > 0) return 'Other…';
  return example ? `For example, ${example}` : undefined;
}

/** The options of a question, which only the input of the call has. */
function optionsOf(part: ToolPart, index: number): string[] {
  const { questions } = asRecord(part.input);
  const { options } = asRecord(Array.isArray(questions) ? questions[index] : null);
  return Array.isArray(options) ? [...new Set(options.filter((option) => typeof option === 'string'))] : [];
}

export const questions: CardKinds<'clarification_needed'> = {
  clarification_needed: {
    Card: QuestionsCard,
    opens: true,
    status: (_, { current }) => (current ? 'waiting' : 'done'),
    // Other tools ask instead of doing what their label says.
    phrase: (_, __, tool) => (tool === 'ask_question' ? null : 'Asked you a question'),
    note: ({ questions }) => (questions.length === 1 ? '1 question' : `${questions.length} questions`),
  },
};
