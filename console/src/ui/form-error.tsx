/** The refusal of a form, visible and announced to screen readers. */
import { Text } from "@mantine/core";
import { asApiError, type ApiError } from "../api/errors.ts";
import { readMinute } from "../base/time.ts";

const wordsOf = (error: ApiError): string =>
  error.status === 429 && error.retryAt !== undefined
    ? `Too many attempts. Try again at ${readMinute(error.retryAt)}.`
    : error.message;

/** Keeps its height, so that nothing moves. */
export function FormError(props: { error: unknown }) {
  return (
    <Text role="alert" size="sm" mih={18} c="var(--bad)">
      {props.error == null ? "" : wordsOf(asApiError(props.error))}
    </Text>
  );
}
