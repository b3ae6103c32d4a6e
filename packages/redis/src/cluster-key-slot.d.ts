/** Types of a package that comes without any. */
declare module 'cluster-key-slot' {
  export default function calculateSlot(key: string): number;
}
