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
      ? "It does not exist, or it is not yours to see."
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
          It comes back by itself once the gateway reaches its database. Its log says why it does
          not, and <span className="mono">/readyz</span> when it does.
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
