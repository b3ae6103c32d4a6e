/** The types of the jobs with one name. A type that you leave out is unknown, except the payload, which is null. */
export interface JobType {
  /** A JSON object, or null. */
  payload?: object | null;
  /** JSON value that the handler returns. */
  result?: unknown;
  /** JSON value that the handler saves. */
  checkpoint?: unknown;
}

/** Job types by name, shared by producers and workers: `new Yardmaster<Jobs>()`. Any interface of `JobType`s works. */
export type JobTypes<Jobs> = { [Name in keyof Jobs]: JobType };

/** Without types, any name is allowed, and values from JSON are `any`, as with `JSON.parse`. */
// biome-ignore lint/suspicious/noExplicitAny: see above
export type AnyJobs = Record<string, { payload: any; result: any; checkpoint: any }>;

export type NameOf<Jobs> = keyof Jobs & string;
export type PayloadOf<Jobs, Name extends keyof Jobs> = FieldOf<Jobs, Name, 'payload', null>;
export type ResultOf<Jobs, Name extends keyof Jobs> = FieldOf<Jobs, Name, 'result', unknown>;
export type CheckpointOf<Jobs, Name extends keyof Jobs> = FieldOf<Jobs, Name, 'checkpoint', unknown>;

/**
 * Type of a field for one name, or for each of several. A field that may be left out may also have the `Other` type.
 */
type FieldOf<Jobs, Name, Field extends keyof JobType, Other> = Name extends keyof Jobs
  ? Jobs[Name] extends { [F in Field]?: infer Value }
    ? Field extends keyof Jobs[Name]
      ? undefined extends Jobs[Name][Field]
        ? Exclude<Value, undefined> | Other
        : Value
      : Other
    : Other
  : never;
