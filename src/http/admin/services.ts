/** What the routes of the management API need from the running gateway. */
import type { Actors, Sessions, Throttle } from "../../admin/index.ts";
import type { Clock } from "../../base/clock.ts";
import type { Catalog } from "../../catalog/index.ts";
import type { Ledger } from "../../ledger/index.ts";
import type { Health } from "../../routing/index.ts";
import type { Database } from "../../storage/index.ts";
import type { Secrets } from "../../tenancy/index.ts";

export interface AdminServices {
  readonly actors: Actors;
  readonly sessions: Sessions;
  readonly throttle: Throttle;
  /** The address people use. */
  readonly publicUrl: () => string;
  readonly database: Database;
  readonly secrets: Secrets;
  readonly ledger: Ledger;
  readonly clock: Clock;
  /** The catalogue in force now. */
  readonly catalog: () => Catalog;
  /** How the providers are doing, as this process sees it; undefined where no calls are served. */
  readonly health: Health | undefined;
  /** Resolves when this process has written the log rows of the calls it has answered, or after a moment under load. */
  readonly logWritten: () => Promise<void>;
  /** A callback was put into the outbox. */
  readonly callbackDue: () => void;
  /** The address of a kept file, by its name. */
  readonly fileUrl: (name: string) => string;
}
