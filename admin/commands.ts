import type { Commands } from './command.ts'
import { CLIENT_COMMANDS } from './commands/clients.ts'
import { KEY_COMMANDS } from './commands/keys.ts'
import { STAGE_COMMANDS } from './commands/stage.ts'
import { USER_COMMANDS } from './commands/users.ts'
import { VAULT_COMMANDS } from './commands/vaults.ts'
import { WEBHOOK_COMMANDS } from './commands/webhooks.ts'

/** All commands of `npm run admin`, in the order in which the help lists them. */
export const COMMANDS: Commands = {
  ...STAGE_COMMANDS,
  ...CLIENT_COMMANDS,
  ...VAULT_COMMANDS,
  ...WEBHOOK_COMMANDS,
  ...USER_COMMANDS,
  ...KEY_COMMANDS,
}
