/** Shown if a region could not be loaded: the API's message and a retry. */
import { Button, Group, Text } from "@mantine/core";
import { asApiError } from "../api/errors.ts";
import { isTimeout } from "../api/read-timeout.ts";

export function RegionError(props: { what: string; error: unknown; retry?: () => unknown }) {
  const refusal = asApiError(props.error);
  const { status, code, message, requestId } = refusal;
  const what = props.what.charAt(0).toUpperCase() + props.what.slice(1);
  // Earlier data may still show below it.
  const title = status === 404 ? `There is no such ${props.what}` : `${what} could not be read`;
  const text =
    status === 404
      ? "It does not exist, or you may not see it."
      : `${message} ${isTimeout(refusal) ? "" : code}`.trim();
  return (
    <div className="panel" role="alert">
      <Text fw={650} c="var(--bad)">
        {title}
      </Text>
      <Text size="sm" style={{ overflowWrap: "anywhere" }}>
        {text}
      </Text>
      {code === "database_unavailable" && (
        <Text size="sm" className="muted">
          This page works again as soon as the gateway reaches its database. The gateway's log has
          the reason; <span className="mono">/readyz</span> says when it is ready.
        </Text>
      )}
      <Group mt="sm" gap="sm">
        {props.retry !== undefined && (
          <Button size="xs" variant="default" onClick={() => void props.retry?.()}>
            Try again
          </Button>
        )}
        {requestId !== undefined && <span className="mono">{requestId}</span>}
      </Group>
    </div>
  );
}
