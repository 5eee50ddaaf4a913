/** Errors for objects that a body names by their ids. */
import { GatewayError } from "../../base/errors.ts";

/** Returns the result of `work`. If it finds no such object, the error names the body's field. */
export async function withParam<T>(param: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== "not_found") throw error;
    throw new GatewayError("not_found", error.message, { param, cause: error });
  }
}
