import { type Signal, useSignal } from '@preact/signals';
import type { ComponentChildren, ComponentProps } from 'preact';
import { useEffect } from 'preact/hooks';

/** A labelled field of a form. The control is the child. */
export function Field({ label, hint, children }: { label: string; hint?: string; children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is among the children
    <label class="field">
      <span>{label}</span>
      {children}
      {hint !== undefined && <small>{hint}</small>}
    </label>
  );
}

/** An input whose text is kept in a signal. */
export function TextInput({ text, ...attributes }: ComponentProps<'input'> & { text: Signal<string> }) {
  return <input {...attributes} value={text.value} onInput={(event) => (text.value = event.currentTarget.value)} />;
}

interface SecondsSelectProps {
  seconds: Signal<number>;
  options: readonly { seconds: number; title: string }[];
}

/** A choice among lengths of time. */
export function SecondsSelect({ seconds, options }: SecondsSelectProps) {
  return (
    <select value={seconds.value} onChange={(event) => (seconds.value = Number(event.currentTarget.value))}>
      {options.map((one) => (
        <option key={one.seconds} value={one.seconds}>
          {one.title}
        </option>
      ))}
    </select>
  );
}

interface JsonInputProps {
  rows: number;
  text: string;
  onText: (text: string) => void;
}

/** The control of a field that takes JSON, for {@link jsonOf}. */
export function JsonInput({ rows, text, onText }: JsonInputProps) {
  return (
    <textarea rows={rows} spellcheck={false} value={text} onInput={(event) => onText(event.currentTarget.value)} />
  );
}

/**
 * Parse a field that takes JSON.
 *
 * @throws Error that names the field
 */
export function jsonOf(text: string, name: string): unknown {
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`${name} is not valid JSON: ${(error as Error).message}`);
  }
}

/** A search starts after this pause in typing. */
const TYPED_MS = 400;

interface SearchFieldProps {
  label: string;
  value: string;
  placeholder?: string;
  onSearch: (text: string) => void;
}

/** A field that searches while a person types. */
export function SearchField({ label, value, placeholder, onSearch }: SearchFieldProps) {
  const text = useSignal(value);
  useEffect(() => {
    text.value = value;
  }, [value]);
  useEffect(() => {
    if (text.value === value) return;
    const timer = setTimeout(() => onSearch(text.value), TYPED_MS);
    return () => clearTimeout(timer);
  }, [text.value, value]);
  return (
    <label>
      {label}{' '}
      <input
        type="search"
        maxLength={500}
        placeholder={placeholder}
        value={text.value}
        onInput={(event) => (text.value = event.currentTarget.value)}
      />
    </label>
  );
}

/** Run the submission of a form. Its error stays until the next one. */
export function useSubmit(run: () => Promise<void>) {
  const error = useSignal('');
  const isRunning = useSignal(false);
  const submit = async (event: Event) => {
    event.preventDefault();
    isRunning.value = true;
    error.value = '';
    try {
      await run();
    } catch (thrown) {
      error.value = (thrown as Error).message;
    } finally {
      isRunning.value = false;
    }
  };
  return { submit, error, isRunning };
}
