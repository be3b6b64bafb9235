import type { States } from '../chains/states.ts'
import type { TrackedDeposit } from '../relayer.ts'
import type { LocalStates } from '../start/states.ts'

/** Prepared state, such as a pending deposit, with the account, API key and wallet page that show it. */
export type ShownState = {
  readonly name: string
  readonly does: string
  /** Local account that the wallet uses to show the state; undefined if the state looks the same for every account. */
  readonly account: string | undefined
  readonly apiKey: string
  readonly page: string
}

/** Descriptions of the prepared states, such as pending deposits, for the control page. */
const SENTENCES: Readonly<Record<string, string>> = {
  'deposit pending': 'A deposit waits for the vault’s settlement and can be cancelled.',
  'deposit claimable': 'The vault has settled a deposit; its shares can be claimed.',
  'deposit cancelled': 'The user cancelled a deposit before its settlement.',
  deposited: 'A deposit is done and its shares are in the account.',
  'no deposit': 'The account never deposited into this vault.',
  'withdrawal pending': 'A withdrawal waits for the vault’s settlement.',
  'withdrawal claimable': 'The vault has settled a withdrawal; the money can be claimed.',
  'withdrawal paid': 'A withdrawal is done and its money is in the account.',
  'no withdrawal': 'The account never withdrew from this vault.',
  'deposit into a paused vault': 'The vault is paused and takes no deposit.',
  'deposit into a closing vault': 'The vault is closing and takes no deposit.',
  'withdrawal from a closing vault': 'The vault is closing; a withdrawal must wait until it is closed.',
  'deposit into a closed vault': 'The vault is closed and takes no deposit.',
  'withdrawal from a closed vault': 'The vault is closed and pays withdrawals instantly.',
  'deposit into a vault for members': 'The vault takes deposits of accounts on its list only.',
  'deposit into a full vault': 'The vault has reached its cap.',
  'withdrawal from a vault that has lent all': 'The vault has lent its money and cannot pay now.',
  'withdrawal from a vault with a cooldown': 'A withdrawal starts a cooldown of some days.',
  'withdrawal in its cooldown': 'A withdrawal waits for the end of its cooldown.',
  'deposit into a vault with fees': 'The vault takes a fee on each deposit, which is shown before.',
  'rewards claimable': 'Rewards can be claimed; a part was claimed before.',
  'rewards pending': 'Rewards are earned, and no tree has them yet.',
  'rewards in their dispute period': 'Rewards can be claimed once the newest tree takes effect.',
  'rewards in a spam token': 'Somebody pays the account in spam, which is left out.',
  'no rewards': 'No campaign pays the account.',
  'transfer pending': 'No node has seen the transaction yet.',
  'transfer replaced': 'Another transaction took the place of this one.',
  'transfer bridging': 'A transfer is on its way to the other chain.',
  'transfer bridging slowly': 'A transfer waits for a slow fill.',
  'transfer delivered': 'The money has arrived on the other chain.',
  'transfer deposited': 'The money has arrived and is in the vault.',
  'transfer not deposited': 'The money has arrived, but the vault refused the deposit.',
  'transfer to a chain that is not followed': 'The transfer went to a chain that the service does not follow.',
  'transfer expired': 'Nobody filled the transfer in time; its refund follows.',
  'transfer refunded': 'The transfer expired and its money is back.',
  'transfer whose refund waits to be claimed': 'The transfer expired and its sender has to claim the refund.',
  'transfer whose refund was never found': 'The transfer expired and no refund was found.',
  'transfer reverted': 'The transaction reverted on its chain.',
  'transfer without a deposit': 'The transaction made no transfer.',
  'key without the scope': 'The API key lacks the scope of markets: 403.',
  'key for another chain': 'The API key is for Base only: a deposit paid from Arbitrum gets 403.',
  'key for another vault': 'The API key is for another vault: a deposit gets 403.',
  'deposit above what the key may': 'The API key allows deposits up to 1 USDC: more gets 403.',
  'key that has asked too often': 'The API key allows one request an hour: the next gets 429.',
}

/** Returns the prepared states for the control page. Throws for a state without a description in `SENTENCES`. */
export function showStates(
  { apiKey, questions }: LocalStates,
  { vaults, dropped }: Pick<States, 'vaults' | 'dropped'>,
  relays: readonly TrackedDeposit[],
): ShownState[] {
  return Object.entries(questions).map(([name, question]) => {
    const does = SENTENCES[name]
    if (does === undefined) throw new Error(`The state “${name}” has no sentence`)
    const questionText = JSON.stringify(question)
    const vault = vaults.find(({ address }) => questionText.includes(address))
    const [, hash, chainId] = /cross-chain\/(0x\w+)\/status\?srcChainId=(\d+)/.exec(questionText) ?? []
    const page = hash
      ? `/transfers/${chainId}/${hash}`
      : vault
        ? `/vaults/${vault.chainId}/${vault.address}`
        : question.path.endsWith('/markets')
          ? '/markets'
          : question.path.endsWith('/vaults')
            ? '/vaults'
            : '/activity'
    const sent = relays.find(({ deposit }) => deposit.transactionHash === hash)
    const sender = sent ? `0x${sent.deposit.depositor.slice(-40)}` : dropped.sender
    const [user] = /(?<=userAddress"?[:=]"?|\/user\/)0x\w{40}/.exec(questionText) ?? []
    return { name, does, account: hash ? sender : user, apiKey: question.apiKey ?? apiKey, page }
  })
}
