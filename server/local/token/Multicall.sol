// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// Several calls in one. It answers to the calls of the well-known Multicall3 that are made here: `tryAggregate` by the
/// facilitator, which names a refusal by it, `aggregate3` by the wall, and those that tell of the block it is asked at.
contract Multicall {
    struct Call {
        address target;
        bytes callData;
    }

    struct LenientCall {
        address target;
        bool allowFailure;
        bytes callData;
    }

    struct Result {
        bool success;
        bytes returnData;
    }

    function tryAggregate(bool requireSuccess, Call[] calldata calls)
        external
        payable
        returns (Result[] memory returnData)
    {
        returnData = new Result[](calls.length);
        for (uint256 i = 0; i < calls.length; i++) {
            returnData[i] = ask(calls[i].target, calls[i].callData, !requireSuccess);
        }
    }

    function aggregate3(LenientCall[] calldata calls) external payable returns (Result[] memory returnData) {
        returnData = new Result[](calls.length);
        for (uint256 i = 0; i < calls.length; i++) {
            returnData[i] = ask(calls[i].target, calls[i].callData, calls[i].allowFailure);
        }
    }

    function getBlockNumber() external view returns (uint256 blockNumber) {
        return block.number;
    }

    function getCurrentBlockTimestamp() external view returns (uint256 timestamp) {
        return block.timestamp;
    }

    function getBlockHash(uint256 blockNumber) external view returns (bytes32 blockHash) {
        return blockhash(blockNumber);
    }

    function ask(address target, bytes calldata callData, bool mayFail) private returns (Result memory result) {
        (result.success, result.returnData) = target.call(callData);
        require(result.success || mayFail, "Multicall: a call failed");
    }
}
