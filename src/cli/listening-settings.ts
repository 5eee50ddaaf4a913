/** The settings of the addresses on which commands listen. Advice on errors of listening there names them. */

interface AddressSettings {
  readonly host: string;
  readonly port: string;
}

const ofGateway: AddressSettings = { host: "HOST or --host", port: "PORT or --port" };
export const ofMetrics: AddressSettings = {
  host: "TOLLGATE_METRICS_HOST",
  port: "TOLLGATE_METRICS_PORT",
};
/** The sandbox reads no variables: it may run beside a gateway that does. */
export const ofSandbox: AddressSettings = { host: "--host", port: "--port" };

const known = new WeakMap<Error, AddressSettings>();

/** Returns the settings of the address that the error is about. */
export const settingsOf = (error: Error): AddressSettings => known.get(error) ?? ofGateway;

/** Runs work that listens at the address of `settings`, and marks its errors. @throws what the work throws */
export async function listeningBy<T>(
  settings: AddressSettings,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Error) known.set(error, settings);
    throw error;
  }
}
