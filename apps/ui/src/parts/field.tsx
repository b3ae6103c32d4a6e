import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
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
        onInput={(event) => {
          text.value = event.currentTarget.value;
        }}
      />
    </label>
  );
}
