// The header is C++, too.
#include <billboard/billboard.h>

#include <iostream>

int main() {
    std::cout << "Billboard " << billboard_version() << '\n';
    return billboard_abi() == BILLBOARD_ABI ? 0 : 1;
}
