import { useSignal } from '@preact/signals';
import type { JobWithEvents } from '@yardmaster/protocol';
import { count } from '../../parts/format.js';
import { Table, Text, Time } from '../../parts/show.js';

/** Events that are shown at first. */
const SHOWN = 50;

/** The events of a job, newest first. */
export function History({ events }: { events: JobWithEvents['events'] }) {
  const isWhole = useSignal(false);
  const shown = isWhole.value ? events : events.slice(-SHOWN);
  return (
    <section>
      <h2>History</h2>
      <Table label="History" columns={[{ title: 'At' }, { title: 'Event' }, { title: 'Data' }]}>
        {shown.toReversed().map(({ id, type, data, createdAt }) => (
          <tr key={id}>
            <td>
              <Time at={createdAt} />
            </td>
            <td>{type}</td>
            <td class="why">{data !== null && <Text max={500}>{JSON.stringify(data)}</Text>}</td>
          </tr>
        ))}
      </Table>
      {shown.length < events.length && (
        <button
          type="button"
          onClick={() => {
            isWhole.value = true;
          }}
        >
          Show all {count(events.length)} events
        </button>
      )}
    </section>
  );
}
