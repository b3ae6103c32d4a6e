/** Types of a package that ships without any. */
declare module 'cluster-key-slot' {
  export default function calculateSlot(key: string): number;
}
