/** What some results were measured on, in one line. */
export function conditions({ machine, node = machine.node, redis = machine.redis }) {
  const { cpu, cores, memoryGb, os } = machine;
  const memory = memoryGb === undefined ? '' : `, ${memoryGb} GB`;
  return `${cores} × ${cpu}${memory}, ${os === undefined ? '' : `${os}, `}Node.js ${node.replace(/^v/, '')}, Redis ${redis}`;
}
