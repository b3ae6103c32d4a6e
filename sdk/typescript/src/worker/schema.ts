import { NonRetryable } from '../errors.js';

/**
 * The part of Standard Schema (standardschema.dev) that the SDK uses. Zod, Valibot, ArkType and others implement it.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => Result<Output> | Promise<Result<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

type Result<Output> = { readonly value: Output; readonly issues?: undefined } | { readonly issues: readonly Issue[] };

interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** Validate a payload. @throws NonRetryable that names each invalid field */
export async function validated<Output>(schema: StandardSchema<unknown, Output>, payload: unknown): Promise<Output> {
  const result = await schema['~standard'].validate(payload);
  if (result.issues === undefined) return result.value;
  const faults = result.issues.map(({ path = [], message }) => {
    const keys = path.map((part) => String(typeof part === 'object' ? part.key : part));
    return `${['payload', ...keys].join('.')}: ${message}`;
  });
  throw new NonRetryable(`The payload is not valid: ${faults.join('; ')}`);
}
