/** Command that runs a redis-server on this machine. */
export interface RedisBinary {
  /** Path, or a name that PATH resolves. */
  command: string;
  /** Arguments that come before redis-server's own. */
  args: string[];
}
