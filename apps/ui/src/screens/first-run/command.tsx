import { useSignal } from '@preact/signals';
import { keyText } from '../../api/session.js';
import { CopyButton } from '../../parts/show.js';
import { quoted } from './steps.js';

interface CommandProps {
  /** What the button copies. */
  command: string;
  /** What is shown, if that is another text. */
  shown?: string;
  /** Names the command, for the button: `step 1`. */
  label: string;
}

/** Show a command of several lines with a button that copies it. */
export function Command({ command, shown = command, label }: CommandProps) {
  return (
    <div class="command">
      <pre>
        <code>{shown}</code>
      </pre>
      <CopyButton text={command} label={label} />
    </div>
  );
}

/** The line that gives the shell the key. It is masked until the person shows it; the copy has the key itself. */
export function KeyCommand() {
  const isShown = useSignal(false);
  const line = `KEY=${quoted(keyText())}`;
  return (
    <>
      <Command command={line} shown={isShown.value ? line : "KEY='••••••••'"} label="the line with your key" />
      <p class="buttons">
        <button
          type="button"
          onClick={() => {
            isShown.value = !isShown.value;
          }}
        >
          {isShown.value ? 'Hide the key' : 'Show the key'}
        </button>
      </p>
    </>
  );
}
