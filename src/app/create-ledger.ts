import { createProcessOwner } from "../dispatchers/process-owner.ts";
import type { Store } from "../store/store.ts";
import {
  checkDispatcherId,
  checkProfile,
  parseSettings,
  type SubjectSettings,
} from "../subjects/dispatcher-settings.ts";
import { SubjectLedger } from "../subjects/subject-ledger.ts";

/** The token generator of all dispatchers of this process. */
let owner: string | undefined;

export interface NamedLedger {
  readonly profile: string;
  readonly dispatcherId: string;
  readonly settings: SubjectSettings;
  readonly store: () => Promise<Store>;
}

/** The owner of leases is this process; callers don't pass one. */
export function createLedger({ profile, dispatcherId, settings, store }: NamedLedger): SubjectLedger {
  owner ??= createProcessOwner().name;
  return new SubjectLedger({
    profile: checkProfile(profile),
    dispatcherId: checkDispatcherId(dispatcherId),
    store,
    owner,
    settings: parseSettings(settings),
  });
}
