/** Why a form was refused, said to those who read and to those who listen. */
import { Text } from "@mantine/core";
import { asApiError, type ApiError } from "../api/errors.ts";
import { readMinute } from "../base/time.ts";

const wordsOf = (error: ApiError): string =>
  error.status === 429 && error.retryAt !== undefined
    ? `Too many attempts. Try again at ${readMinute(error.retryAt)}.`
    : error.message;

/** Its place is kept, so that nothing jumps. */
export function FormError(props: { error: unknown }) {
  return (
    <Text role="alert" size="sm" mih={18} c="var(--bad)">
      {props.error == null ? "" : wordsOf(asApiError(props.error))}
    </Text>
  );
}
