import type { Commands } from './command.ts'
import { CLIENT_COMMANDS } from './commands/clients.ts'
import { KEY_COMMANDS } from './commands/keys.ts'
import { STAGE_COMMANDS } from './commands/stage.ts'
import { USER_COMMANDS } from './commands/users.ts'
import { VAULT_COMMANDS } from './commands/vaults.ts'
import { WEBHOOK_COMMANDS } from './commands/webhooks.ts'

/** All commands, in the order of the help. */
export const COMMANDS: Commands = {
  ...STAGE_COMMANDS,
  ...CLIENT_COMMANDS,
  ...VAULT_COMMANDS,
  ...WEBHOOK_COMMANDS,
  ...USER_COMMANDS,
  ...KEY_COMMANDS,
}
