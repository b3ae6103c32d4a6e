import type { CreatedApiKey } from '@yardmaster/protocol';
import type { ComponentChildren } from 'preact';
import { Copyable } from '../../parts/action.js';
import { Shown } from '../../parts/dialog.js';
import { Text } from '../../parts/show.js';

interface NewSecretProps {
  created: CreatedApiKey;
  title: string;
  children?: ComponentChildren;
}

/** The inside of a dialog that shows a new secret. The service stores only its hash, so nothing can show it again. */
export function NewSecret({ created, title, children }: NewSecretProps) {
  return (
    <Shown title={title}>
      <p>
        <Text>{created.name}</Text>: <Copyable text={created.key} label="The key" />
      </p>
      <p class="notice">Copy the key now. It is never shown again.</p>
      {children}
    </Shown>
  );
}
