/** Stack as CloudFormation describes it. */
export type StackState = {
  readonly name: string
  readonly status: string
  /** CloudFormation's reason for the status; may be empty. */
  readonly reason: string
  readonly createdAt: Date
  /** Protected stacks refuse deletion. */
  readonly isProtected: boolean
  readonly outputs: Readonly<Record<string, string>>
}

/** Action that a stack needs before it can be deployed. */
export type RequiredAction =
  /** The stack can be created or updated. */
  | 'deploy'
  /** CloudFormation still works on the stack, perhaps for a command that was stopped. */
  | 'wait'
  /** The first creation of the stack failed, so the stack holds no user data. */
  | 'delete'
  /** The deletion of the stack failed, and its remaining resources can hold data. Only the operator can approve their deletion. */
  | 'finish the deletion'
  /**
   * The update of the stack failed, and CloudFormation did not complete a rollback. Only the operator can choose the
   * resources that another rollback skips.
   */
  | 'roll back'

/** Required action for each status of a stack in CloudFormation. */
const TREATMENTS: Readonly<Record<string, RequiredAction>> = {
  // The stack has only a change set that was not executed; the next deploy replaces it.
  REVIEW_IN_PROGRESS: 'deploy',
  CREATE_COMPLETE: 'deploy',
  UPDATE_COMPLETE: 'deploy',
  UPDATE_ROLLBACK_COMPLETE: 'deploy',
  IMPORT_COMPLETE: 'deploy',
  IMPORT_ROLLBACK_COMPLETE: 'deploy',
  CREATE_FAILED: 'delete',
  ROLLBACK_COMPLETE: 'delete',
  ROLLBACK_FAILED: 'delete',
  DELETE_FAILED: 'finish the deletion',
  UPDATE_FAILED: 'roll back',
  UPDATE_ROLLBACK_FAILED: 'roll back',
  IMPORT_ROLLBACK_FAILED: 'roll back',
}

/** Returns the action that a stack needs by its status. An unknown status needs `roll back`, so that the operator decides. */
export function deriveRequiredAction({ status }: Pick<StackState, 'status'>): RequiredAction {
  return TREATMENTS[status] ?? (status.endsWith('_IN_PROGRESS') ? 'wait' : 'roll back')
}

/** Sorts stacks from the newest to the oldest. A stack depends only on older stacks, so CloudFormation must delete it before them. */
export function sortForRemoval<Stack extends StackState>(stacks: readonly Stack[]): Stack[] {
  return stacks.toSorted((left, right) => right.createdAt.getTime() - left.createdAt.getTime())
}
