import { formatUnits, parseUnits } from 'viem'
import * as z from 'zod'
import { Email, KycStatus } from '../../lib/accounts/user.ts'
import { Timestamp } from '../../lib/core/codecs.ts'
import {
  buildCommand,
  buildFlagSchema,
  buildTextSchema,
  type Commands,
  clientId,
  formatColumns,
  optionHelp,
} from '../command.ts'
import { endUserSessions, getUser, removeUser, updateUserByOperator } from '../operations/users.ts'

const MICRO = 6

/** Dollars as text with at most six decimals, parsed into millionths of a dollar. */
const microDollars = z.codec(
  z.string().regex(/^\d{1,9}(\.\d{1,6})?$/, 'must be dollars such as 12.50'),
  z.number().int().nonnegative(),
  {
    decode: (text) => Number(parseUnits(text, MICRO)),
    encode: (micro) => formatUnits(BigInt(micro), MICRO),
  },
)

const userOptions = z.object({
  client: clientId,
  email: Email.register(optionHelp, { value: 'address', meaning: 'The e-mail address of the user' }),
})

/** Admin commands that manage the end users of clients. */
export const USER_COMMANDS: Commands = {
  'set-user': buildCommand(
    'Sets the KYC status of a user, and the balance for network fees that the service pays for the user.',
    userOptions.extend({
      kyc: KycStatus.optional().register(optionHelp, { value: 'status', meaning: KycStatus.options.join(', ') }),
      smartGasUsd: microDollars
        .optional()
        .register(optionHelp, { value: 'dollars', meaning: 'Balance for fees, such as 12.50' }),
    }),
    async (admin, { client, email, kyc, smartGasUsd }) => {
      const user = await updateUserByOperator(admin, { clientId: client, email }, { kyc, smartGas: smartGasUsd })
      const gas = microDollars.encode(user.smartGas ?? 0)
      return [`User ${email} of client ${client}: kyc ${user.kyc ?? 'none'}, ${gas} dollars left for fees.`]
    },
  ),

  'list-sessions': buildCommand(
    'Lists the open sessions of a user, and the credentials that open new ones.',
    userOptions,
    async (admin, { client, email }) => {
      const { sessions, credentials } = await getUser(admin, { clientId: client, email })
      const live = Object.entries(sessions).filter(([, { expiresAt }]) => expiresAt.getTime() > admin.now())
      return [
        ...formatColumns(
          ['SESSION', 'PLATFORM', 'SINCE', 'UNTIL'],
          live.map(([id, { platform = '', createdAt, expiresAt }]) => [
            id,
            platform,
            Timestamp.encode(createdAt),
            Timestamp.encode(expiresAt),
          ]),
        ),
        '',
        ...formatColumns(
          ['CREDENTIAL', 'FACTOR', 'NAME', 'SINCE', 'LAST USED'],
          Object.values(credentials).map(({ kind, factor, name = '', createdAt, lastUsedAt }) => {
            const used = lastUsedAt ? Timestamp.encode(lastUsedAt) : 'never'
            return [kind, factor, name, Timestamp.encode(createdAt), used]
          }),
        ),
      ]
    },
  ),

  'end-sessions': buildCommand(
    'Ends all sessions of a user, or one of them.',
    userOptions.extend({
      session: buildTextSchema(100)
        .optional()
        .register(optionHelp, { value: 'id', meaning: 'Only this session, as in list-sessions' }),
    }),
    async (admin, { client, email, session }) => {
      const ended = await endUserSessions(admin, { clientId: client, email }, session)
      if (session !== undefined) return [`Session ${session} of user ${email} of client ${client} is ended.`]
      return [`User ${email} of client ${client} is logged out everywhere; sessions ended: ${ended}.`]
    },
  ),

  'delete-user': buildCommand(
    'Deletes a user with all credentials, sessions and wallet links. You cannot undo this.',
    userOptions.extend({
      yes: buildFlagSchema('Delete; without it, only shows the user'),
    }),
    async (admin, { client, email, yes }) => {
      await removeUser(admin, { clientId: client, email }, { isConfirmed: yes })
      return [`User ${email} of client ${client} is deleted.`]
    },
  ),
}
