/** A compiled Lua file. Its inputs are by name: keys, arguments, and the list of all further arguments. */
export interface Script<Inputs, Reply> {
  name: string;
  text: string;
  /** Number of its keys; they come first among the parameters. */
  keyCount: number;
  /** Put its inputs in order. This is generated, because it costs less than a loop over their names. */
  parameters: (inputs: Inputs) => ScriptArgument[];
  /** Whether its caller waits for a replica with DURABILITY=replicated. */
  isReplicated: boolean;
  /** Decode a reply that is no error, as the header of the file declares it. */
  decode: (reply: unknown[]) => Reply;
}

export type ScriptArgument = string | number;

/** Partition and space of a call, and its deadline. */
export interface Place {
  /** Beginning of the keys of the partition. */
  base: string;
  /** The one space whose jobs the call may touch; '' for any. */
  space: string;
  /** See notAfterOf; '' when left out. */
  notAfter?: number | '';
}

/** The script of a verb. */
export interface Verb<Inputs, Reply> extends Script<Inputs, Reply> {
  /** Whether its first argument is the deadline of its call. */
  hasDeadline: boolean;
}

/** A verb and its arguments in order, without the deadline. */
export interface VerbInputs<Reply = unknown> {
  verb: Pick<Verb<never, Reply>, 'name' | 'text' | 'keyCount' | 'isReplicated' | 'decode' | 'hasDeadline'>;
  parameters: ScriptArgument[];
}

/** Verbs of one place, to run in order in one script. */
export interface VerbCall extends Place {
  verbs: readonly VerbInputs[];
  /** Whether a refusal stops the verbs after it, which get the same reply. Default false. */
  stopsAtRefusal?: boolean;
  /** How many jobs it may touch. */
  jobs: number;
}
