/** A compiled Lua file with named inputs: keys, arguments, and the list of all further arguments. */
export interface Script<Inputs, Reply> {
  name: string;
  text: string;
  /** Number of keys, which are the first parameters. */
  keyCount: number;
  /** Put the inputs in order. This is generated, because it costs less than a loop over their names. */
  parameters: (inputs: Inputs) => ScriptArgument[];
  /** Whether its caller waits for a replica with DURABILITY=replicated. */
  isReplicated: boolean;
  /** Decode a successful reply, as declared in the header of the file. */
  decode: (reply: unknown[]) => Reply;
}

export type ScriptArgument = string | number;

/** Partition and space of a call, and its deadline. */
export interface Place {
  /** Prefix of the keys of the partition. */
  base: string;
  /** The space that the call may access; '' for any. */
  space: string;
  /** See notAfterOf. Default '' for none. */
  notAfter?: number | '';
}

/** The script of a verb. */
export interface Verb<Inputs, Reply> extends Script<Inputs, Reply> {
  /** Whether the first argument is the deadline of the call. */
  hasDeadline: boolean;
}

/** A verb and its arguments in order, without the deadline. */
export interface VerbInputs<Reply = unknown> {
  verb: Pick<Verb<never, Reply>, 'name' | 'text' | 'keyCount' | 'isReplicated' | 'decode' | 'hasDeadline'>;
  parameters: ScriptArgument[];
}

/** Verbs for one place, to run in order in one script. */
export interface VerbCall extends Place {
  verbs: readonly VerbInputs[];
  /** Whether the first refusal is the reply to all following verbs. Default false. */
  stopsAtRefusal?: boolean;
  /** Maximum number of jobs that it can change. */
  jobs: number;
}
