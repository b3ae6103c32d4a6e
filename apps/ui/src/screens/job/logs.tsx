import { type Signal, useSignal } from '@preact/signals';
import type { LogEntry, LogLevel } from '@yardmaster/protocol';
import { LOG_LEVELS } from '@yardmaster/protocol/log-levels';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { SearchField } from '../../parts/form.js';
import { ErrorNotice } from '../../parts/notice.js';
import { LogList } from './log-list.js';

interface LogsProps {
  jobId: string;
  /** Grows when there may be further entries. */
  changes: Signal<number>;
}

/** The logs of a job, with search; the newest at the end. */
export function Logs({ jobId, changes }: LogsProps) {
  const level = useSignal<LogLevel>('trace');
  const q = useSignal('');
  const isFollowed = useSignal(true);
  const logs = useMemo(() => new LogList(jobId, level.value, q.value), [jobId, level.value, q.value]);
  const end = useRef<HTMLDivElement>(null);

  useEffect(() => () => logs.dispose(), [logs]);
  useEffect(() => {
    if (isFollowed.value || !logs.entries.value?.length) logs.loadNewer();
  }, [logs, changes.value, isFollowed.value]);
  const loadOlder = () => {
    isFollowed.value = false;
    logs.loadOlder();
  };
  const entries = logs.entries.value;
  useEffect(() => {
    if (isFollowed.value && end.current) end.current.scrollTop = end.current.scrollHeight;
  }, [entries]);

  return (
    <section class="logs">
      <h2>Logs</h2>
      <div class="filters">
        <label>
          level{' '}
          <select value={level.value} onChange={(event) => (level.value = event.currentTarget.value as LogLevel)}>
            {LOG_LEVELS.map((one) => (
              <option key={one} value={one}>
                {one} and above
              </option>
            ))}
          </select>
        </label>
        <SearchField label="find" value={q.value} onSearch={(text) => (q.value = text)} />
        <label>
          <input
            type="checkbox"
            checked={isFollowed.value}
            onChange={(event) => (isFollowed.value = event.currentTarget.checked)}
          />{' '}
          follow
        </label>
      </div>
      <ErrorNotice>{logs.error.value?.message}</ErrorNotice>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <div class="entries" ref={end} tabIndex={0} role="log" aria-label="Log entries">
        {logs.hasOlder.value && (
          <button type="button" onClick={loadOlder}>
            Load older entries
          </button>
        )}
        {entries?.length === 0 && <p class="none">No entries.</p>}
        {entries?.map((entry) => (
          <Entry key={entry.seq} entry={entry} />
        ))}
      </div>
    </section>
  );
}

function Entry({ entry: { level, message, source, metadata, loggedAt } }: { entry: LogEntry }) {
  const more = Object.keys(metadata).length === 0 ? '' : JSON.stringify(metadata);
  return (
    <p class={`entry ${level}`}>
      <time dateTime={loggedAt} title={loggedAt}>
        {new Date(loggedAt).toLocaleTimeString()}
      </time>{' '}
      <b>{level}</b> {source !== 'worker' && <bdi class="source">{source}</bdi>} <bdi>{message}</bdi>{' '}
      {more !== '' && <bdi class="more">{more}</bdi>}
    </p>
  );
}
