import { type Signal, useSignal } from '@preact/signals';
import type { ComponentChildren, ComponentProps } from 'preact';
import { useEffect } from 'preact/hooks';

/** Render a labeled field of a form, with the control as its child. */
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

/** Render an input whose text is a signal. */
export function TextInput({ text, ...attributes }: ComponentProps<'input'> & { text: Signal<string> }) {
  return <input {...attributes} value={text.value} onInput={(event) => (text.value = event.currentTarget.value)} />;
}

interface SecondsSelectProps {
  seconds: Signal<number>;
  options: readonly { seconds: number; title: string }[];
}

/** Render a choice of durations. */
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

/** Render an input for JSON, for {@link jsonOf}. */
export function JsonInput({ rows, text, onText }: JsonInputProps) {
  return (
    <textarea rows={rows} spellcheck={false} value={text} onInput={(event) => onText(event.currentTarget.value)} />
  );
}

/**
 * Parse a field that contains JSON.
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

/** How long to wait for more typing before a search, in milliseconds. */
const TYPED_MS = 400;

interface SearchFieldProps {
  label: string;
  value: string;
  placeholder?: string;
  onSearch: (text: string) => void;
}

/** Render a field that searches as the user types. */
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

/** Handle the submission of a form. An error stays until the next submission. */
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
