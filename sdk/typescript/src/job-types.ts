/** Types of the jobs of one name. Those that are left out are unknown; a payload that is left out is null. */
export interface JobType {
  /** A JSON object, or null. */
  payload?: object | null;
  /** JSON that the handler returns. */
  result?: unknown;
  /** JSON that the handler saves. */
  checkpoint?: unknown;
}

/** Types by job name, shared by producers and workers: `new Yardmaster<Jobs>()`. Any interface of `JobType`s fits. */
export type JobTypes<Jobs> = { [Name in keyof Jobs]: JobType };

/** Without types, any name is allowed, and what comes from JSON is `any`, as from `JSON.parse`. */
// biome-ignore lint/suspicious/noExplicitAny: see above
export type AnyJobs = Record<string, { payload: any; result: any; checkpoint: any }>;

export type NameOf<Jobs> = keyof Jobs & string;
export type PayloadOf<Jobs, Name extends keyof Jobs> = FieldOf<Jobs, Name, 'payload', null>;
export type ResultOf<Jobs, Name extends keyof Jobs> = FieldOf<Jobs, Name, 'result', unknown>;
export type CheckpointOf<Jobs, Name extends keyof Jobs> = FieldOf<Jobs, Name, 'checkpoint', unknown>;

/** Type of a field of the jobs of a name, or of each of several. One that may be left out may have the other type. */
type FieldOf<Jobs, Name, Field extends keyof JobType, Other> = Name extends keyof Jobs
  ? Jobs[Name] extends { [F in Field]?: infer Value }
    ? Field extends keyof Jobs[Name]
      ? undefined extends Jobs[Name][Field]
        ? Exclude<Value, undefined> | Other
        : Value
      : Other
    : Other
  : never;
